import java.io.File;
import org.semanticweb.owlapi.apibinding.OWLManager;
import org.semanticweb.owlapi.model.OWLOntology;
import org.semanticweb.owlapi.model.OWLOntologyManager;
import org.semanticweb.owlapi.profiles.OWL2DLProfile;
import org.semanticweb.owlapi.profiles.OWLProfileViolation;

/** Prints, for each file, the number of its axioms and its violations of OWL 2 DL. */
public class Profile {
    public static void main(String[] files) throws Exception {
        for (String file : files) {
            OWLOntologyManager manager = OWLManager.createOWLOntologyManager();
            OWLOntology ontology = manager.loadOntologyFromOntologyDocument(new File(file));
            System.out.println(file + " " + ontology.getLogicalAxiomCount());
            for (OWLProfileViolation violation : new OWL2DLProfile().checkOntology(ontology).getViolations()) {
                System.out.println("  " + violation.getClass().getSimpleName() + " " + violation.toString().replace("\n", " "));
            }
        }
    }
}
